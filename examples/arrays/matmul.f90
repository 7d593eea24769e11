! Matrix multiplication: blocks of three matrices on a grid of processors.
program matmul
integer, parameter :: n = 24
real, dimension(n, n) :: a, b, c
integer :: i, j, k
!hpf$ processors p(4, 4)
!hpf$ template plane(n, n)
!hpf$ align (i,j) with plane(i,j) :: a, b, c
!hpf$ distribute plane(block, block) onto p
do i = 1, n
  do j = 1, n
    c(i,j) = 0.0
  end do
end do
do i = 1, n
  do j = 1, n
    do k = 1, n
      c(i,j) = c(i,j) + a(i,k) * b(k,j)
    end do
  end do
end do
end program
