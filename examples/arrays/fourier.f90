! A Fourier transform in two dimensions, columns in blocks: along columns, a transposition, along columns again, and back; what
! benchmark 0003 of the HPF suite does. n is a power of two to 128; the result has its rows and columns in the order of bits reversed.
program fourier
integer, parameter :: n = 8
real, dimension(0:n-1, 0:n-1) :: re, im, tr, ti, xr, xi
integer :: i, j
!hpf$ processors p(4)
!hpf$ template plane(0:n-1, 0:n-1)
!hpf$ align (i,j) with plane(i,j) :: re, im, tr, ti, xr, xi
!hpf$ distribute plane(*, block) onto p
call columns(re, im)
forall (i = 0:n-1, j = 0:n-1) tr(i,j) = re(j,i)
forall (i = 0:n-1, j = 0:n-1) ti(i,j) = im(j,i)
call columns(tr, ti)
forall (i = 0:n-1, j = 0:n-1) re(i,j) = tr(j,i)
forall (i = 0:n-1, j = 0:n-1) im(i,j) = ti(j,i)
contains
subroutine columns(re, im)
  real, dimension(0:n-1, 0:n-1) :: re, im
  call stage(re, im, 64)
  call stage(re, im, 32)
  call stage(re, im, 16)
  call stage(re, im, 8)
  call stage(re, im, 4)
  call stage(re, im, 2)
  call stage(re, im, 1)
end subroutine
subroutine stage(re, im, half)
  real, dimension(0:n-1, 0:n-1) :: re, im
  integer :: half, b, i, j
  real :: angle
  do b = 0, n / (2 * half) - 1
    do i = 0, half - 1
      angle = -3.14159265358979 * i / half
      do j = 0, n - 1
        xr(i,j) = re(2*half*b+i,j) - re(2*half*b+half+i,j)
        xi(i,j) = im(2*half*b+i,j) - im(2*half*b+half+i,j)
        re(2*half*b+i,j) = re(2*half*b+i,j) + re(2*half*b+half+i,j)
        im(2*half*b+i,j) = im(2*half*b+i,j) + im(2*half*b+half+i,j)
        re(2*half*b+half+i,j) = cos(angle) * xr(i,j) - sin(angle) * xi(i,j)
        im(2*half*b+half+i,j) = cos(angle) * xi(i,j) + sin(angle) * xr(i,j)
      end do
    end do
  end do
end subroutine
end program
