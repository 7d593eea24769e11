! A wavelet transform of an image and back, columns in blocks: two levels along columns, a transposition, the same again, what is
! small made zero; what benchmark 0041 of the HPF suite does. n is a multiple of four.
program wavelets
integer, parameter :: n = 8
real, dimension(0:n-1, 0:n-1) :: x, y
!hpf$ processors p(4)
!hpf$ template plane(0:n-1, 0:n-1)
!hpf$ align (i,j) with plane(i,j) :: x, y
!hpf$ distribute plane(*, block) onto p
call level(n)
call level(n/2)
call turn
call level(n)
call level(n/2)
where (abs(x) < 0.05) x = 0.0
call level_back(n/2)
call level_back(n)
call turn
call level_back(n/2)
call level_back(n)
contains
subroutine level(m)
  integer :: m, i, j
  do j = 0, n - 1
    do i = 0, m/2 - 1
      y(i,j) = 0.5 * (x(2*i,j) + x(2*i+1,j))
      y(m/2+i,j) = 0.5 * (x(2*i,j) - x(2*i+1,j))
    end do
  end do
  x(0:m-1,:) = y(0:m-1,:)
end subroutine
subroutine level_back(m)
  integer :: m, i, j
  do j = 0, n - 1
    do i = 0, m/2 - 1
      y(2*i,j) = x(i,j) + x(m/2+i,j)
      y(2*i+1,j) = x(i,j) - x(m/2+i,j)
    end do
  end do
  x(0:m-1,:) = y(0:m-1,:)
end subroutine
subroutine turn
  integer :: i, j
  forall (i = 0:n-1, j = 0:n-1) y(i,j) = x(j,i)
  x = y
end subroutine
end program
