! Sorting by bitonic exchanges, elements in blocks: segments of 64 elements, or all if there are fewer; what benchmark 0039 of the HPF
! suite does. n is a power of two.
program bitonic
integer, parameter :: n = 16
real, dimension(0:n-1) :: a, b
integer :: i
!hpf$ processors p(4)
!hpf$ template line(0:n-1)
!hpf$ align (i) with line(i) :: a, b
!hpf$ distribute line(block) onto p
call exchange(2, 1)
call exchange(4, 2)
call exchange(4, 1)
call exchange(8, 4)
call exchange(8, 2)
call exchange(8, 1)
call exchange(16, 8)
call exchange(16, 4)
call exchange(16, 2)
call exchange(16, 1)
call exchange(32, 16)
call exchange(32, 8)
call exchange(32, 4)
call exchange(32, 2)
call exchange(32, 1)
call exchange(64, 32)
call exchange(64, 16)
call exchange(64, 8)
call exchange(64, 4)
call exchange(64, 2)
call exchange(64, 1)
contains
subroutine exchange(size, half)
  integer :: size, half, c, i
  forall (c = 0:n/(2*half)-1, i = 0:half-1, mod(2*half*c*min(1,n/size)/size, 2) == 0)
    b(2*half*c+i) = min(a(2*half*c+i), a(2*half*c+half+i))
    b(2*half*c+half+i) = max(a(2*half*c+i), a(2*half*c+half+i))
  end forall
  forall (c = 0:n/(2*half)-1, i = 0:half-1, mod(2*half*c*min(1,n/size)/size, 2) == 1)
    b(2*half*c+i) = max(a(2*half*c+i), a(2*half*c+half+i))
    b(2*half*c+half+i) = min(a(2*half*c+i), a(2*half*c+half+i))
  end forall
  forall (c = 0:n/(2*half)-1, i = 0:2*half-1) a(2*half*c+i) = b(2*half*c+i)
end subroutine
end program
