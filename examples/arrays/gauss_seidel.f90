! Gauss-Seidel iterations for Laplace's equation, of the kind of GS: rows of the square in blocks, each in need of its neighbours'.
program seidel
integer, parameter :: n = 32, steps = 2
real, dimension(0:n+1, 0:n+1) :: u
integer :: i, j, step
!hpf$ processors p(8)
!hpf$ template plane(0:n+1, 0:n+1)
!hpf$ align (i,j) with plane(i,j) :: u
!hpf$ distribute plane(block, *) onto p
do step = 1, steps
  do i = 1, n
    do j = 1, n
      u(i,j) = 0.25 * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1))
    end do
  end do
end do
end program
