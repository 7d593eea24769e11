! Poisson's equation by alternating directions, columns in blocks, and rows after a redistribution: what benchmark 0001 of the HPF
! suite does, with the exchange of rows and columns said by a directive.
program adi
integer, parameter :: n = 16, steps = 2
real, dimension(n, n) :: u, b
integer :: i, j, step
!hpf$ processors p(4)
!hpf$ template plane(n, n)
!hpf$ align (i,j) with plane(i,j) :: u, b
!hpf$ distribute plane(*, block) onto p
do step = 1, steps
  do j = 1, n
    do i = 2, n
      u(i,j) = u(i,j) - 0.3 * u(i-1,j) / b(i-1,j)
    end do
    do i = n - 1, 1, -1
      u(i,j) = (u(i,j) - 0.3 * u(i+1,j)) / (b(i,j) + 1.0)
    end do
  end do
!hpf$ redistribute plane(block, *)
  do i = 1, n
    do j = 2, n
      u(i,j) = u(i,j) - 0.3 * u(i,j-1) / b(i,j-1)
    end do
    do j = n - 1, 1, -1
      u(i,j) = (u(i,j) - 0.3 * u(i,j+1)) / (b(i,j) + 1.0)
    end do
  end do
!hpf$ redistribute plane(*, block)
end do
end program
