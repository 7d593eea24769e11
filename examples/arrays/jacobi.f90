! Jacobi's method for Laplace's equation on a square, whose edges keep their values; blocks of it on 4 x 4 processors.
program jacobi
integer, parameter :: n = 30, steps = 4
real, dimension(0:n+1, 0:n+1) :: u, v
integer :: i, j, step
!hpf$ processors p(4, 4)
!hpf$ template plane(0:n+1, 0:n+1)
!hpf$ align (i,j) with plane(i,j) :: u, v
!hpf$ distribute plane(block, block) onto p
do step = 1, steps
  do i = 1, n
    do j = 1, n
      v(i,j) = 0.25 * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1))
    end do
  end do
  do i = 1, n
    do j = 1, n
      u(i,j) = v(i,j)
    end do
  end do
end do
end program
