! Generation of a mesh by Thompson's method, of the kind of TOMCATV: residuals of nine points, tridiagonal systems, corrections.
program meshes
integer, parameter :: n = 34, steps = 2
real, dimension(n, n) :: x, y, rx, ry, aa, dd, d
real :: relax
integer :: i, j, step
!hpf$ processors p(4, 4)
!hpf$ template plane(n, n)
!hpf$ align (i,j) with plane(i,j) :: x, y, rx, ry, aa, dd, d
!hpf$ distribute plane(block, block) onto p
relax = 0.5
do step = 1, steps
  do j = 2, n - 1
    do i = 2, n - 1
      aa(i,j) = -0.125 * ((x(i,j+1) - x(i,j-1)) ** 2 + (y(i,j+1) - y(i,j-1)) ** 2) - 1.0
      dd(i,j) = 4.0 + 0.25 * ((x(i+1,j) - x(i-1,j)) ** 2 + (y(i+1,j) - y(i-1,j)) ** 2)
      rx(i,j) = x(i+1,j) + x(i-1,j) + x(i,j+1) + x(i,j-1) - 4.0 * x(i,j) - 0.25 * (x(i+1,j+1) - x(i+1,j-1) &
        - x(i-1,j+1) + x(i-1,j-1))
      ry(i,j) = y(i+1,j) + y(i-1,j) + y(i,j+1) + y(i,j-1) - 4.0 * y(i,j) - 0.25 * (y(i+1,j+1) - y(i+1,j-1) &
        - y(i-1,j+1) + y(i-1,j-1))
    end do
  end do
  do i = 2, n - 1
    d(i,2) = 1.0 / dd(i,2)
  end do
  do j = 3, n - 1
    do i = 2, n - 1
      d(i,j) = 1.0 / (dd(i,j) - aa(i,j) * aa(i,j-1) * d(i,j-1))
      rx(i,j) = rx(i,j) - aa(i,j) * d(i,j-1) * rx(i,j-1)
      ry(i,j) = ry(i,j) - aa(i,j) * d(i,j-1) * ry(i,j-1)
    end do
  end do
  do j = 2, n - 1
    do i = 2, n - 1
      x(i,j) = x(i,j) + relax * rx(i,j) * d(i,j)
      y(i,j) = y(i,j) + relax * ry(i,j) * d(i,j)
    end do
  end do
end do
end program
