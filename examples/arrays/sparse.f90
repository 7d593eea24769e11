! A sparse matrix, row by row, times a vector: subscripts that only a run knows.
program sparse
integer, parameter :: n = 8, m = 3
real, dimension(n) :: x, y
real, dimension(m*n) :: value
integer, dimension(m*n) :: column
integer, dimension(n+1) :: row
integer :: i, j, k
!hpf$ processors p(4)
!hpf$ template line(n)
!hpf$ align (i) with line(i) :: x, y
!hpf$ distribute line(block) onto p
do i = 1, n + 1
  row(i) = m * (i - 1) + 1
end do
do i = 1, n
  do j = 1, m
    column(m*(i-1)+j) = 1 + mod(i + j + n - 3, n)
  end do
end do
do i = 1, n
  y(i) = 0.0
  do j = row(i), row(i+1) - 1
    y(i) = y(i) + value(j) * x(column(j))
  end do
end do
end program
