! Random numbers in batches, of which each processor makes its own, counted by their size; the counts of all batches are added along
! the axes of a hypercube: what benchmark 0004 of the HPF suite does. n, the number of batches, is a power of two to 64.
program tabulation
integer, parameter :: n = 8, numbers = 6, kinds = 4
integer, dimension(0:kinds-1, 0:n-1) :: counts, sums
integer, dimension(0:n-1) :: seed
integer :: b, k, number
!hpf$ processors p(4)
!hpf$ template batches(0:kinds-1, 0:n-1)
!hpf$ align (k,b) with batches(k,b) :: counts, sums
!hpf$ align (b) with batches(*,b) :: seed
!hpf$ distribute batches(*, block) onto p
forall (b = 0:n-1) seed(b) = 1 + 37 * b
counts = 0
do number = 1, numbers
  do b = 0, n - 1
    seed(b) = mod(171 * seed(b), 30269)
    do k = 0, kinds - 1
      counts(k,b) = counts(k,b) + max(0, 1 - abs(seed(b) * kinds / 30269 - k))
    end do
  end do
end do
call add(1)
call add(2)
call add(4)
call add(8)
call add(16)
call add(32)
contains
subroutine add(half)
  integer :: half, c, i, k
  forall (c = 0:n/(2*half)-1, i = 0:half-1, k = 0:kinds-1)
    sums(k,2*half*c+i) = counts(k,2*half*c+i) + counts(k,2*half*c+half+i)
    sums(k,2*half*c+half+i) = counts(k,2*half*c+half+i) + counts(k,2*half*c+i)
  end forall
  forall (c = 0:n/(2*half)-1, i = 0:2*half-1, k = 0:kinds-1) counts(k,2*half*c+i) = sums(k,2*half*c+i)
end subroutine
end program
