! Convolution of two images by Fourier transforms, columns in blocks: both forth, their product, and back; what benchmark 0008 of the
! HPF suite does. n is a power of two to 128; between, rows and columns are in the order of bits reversed.
program convolution
integer, parameter :: n = 8
real, dimension(0:n-1, 0:n-1) :: ar, ai, br, bi, xr, xi
!hpf$ processors p(4)
!hpf$ template plane(0:n-1, 0:n-1)
!hpf$ align (i,j) with plane(i,j) :: ar, ai, br, bi, xr, xi
!hpf$ distribute plane(*, block) onto p
ai = 0.0
bi = 0.0
call columns(ar, ai)
call transpose_both(ar, ai)
call columns(ar, ai)
call columns(br, bi)
call transpose_both(br, bi)
call columns(br, bi)
xr = ar * br - ai * bi
ai = ar * bi + ai * br
ar = xr
call columns_back(ar, ai)
call transpose_both(ar, ai)
call columns_back(ar, ai)
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
subroutine columns_back(re, im)
  real, dimension(0:n-1, 0:n-1) :: re, im
  call stage_back(re, im, 1)
  call stage_back(re, im, 2)
  call stage_back(re, im, 4)
  call stage_back(re, im, 8)
  call stage_back(re, im, 16)
  call stage_back(re, im, 32)
  call stage_back(re, im, 64)
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
subroutine stage_back(re, im, half)
  real, dimension(0:n-1, 0:n-1) :: re, im
  integer :: half, b, i, j
  real :: angle
  do b = 0, n / (2 * half) - 1
    do i = 0, half - 1
      angle = 3.14159265358979 * i / half
      do j = 0, n - 1
        xr(i,j) = cos(angle) * re(2*half*b+half+i,j) - sin(angle) * im(2*half*b+half+i,j)
        xi(i,j) = cos(angle) * im(2*half*b+half+i,j) + sin(angle) * re(2*half*b+half+i,j)
        re(2*half*b+half+i,j) = 0.5 * (re(2*half*b+i,j) - xr(i,j))
        im(2*half*b+half+i,j) = 0.5 * (im(2*half*b+i,j) - xi(i,j))
        re(2*half*b+i,j) = 0.5 * (re(2*half*b+i,j) + xr(i,j))
        im(2*half*b+i,j) = 0.5 * (im(2*half*b+i,j) + xi(i,j))
      end do
    end do
  end do
end subroutine
subroutine transpose_both(re, im)
  real, dimension(0:n-1, 0:n-1) :: re, im
  integer :: i, j
  forall (i = 0:n-1, j = 0:n-1)
    xr(i,j) = re(j,i)
    xi(i,j) = im(j,i)
  end forall
  re = xr
  im = xi
end subroutine
end program
