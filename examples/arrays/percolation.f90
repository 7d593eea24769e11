! Clusters of a square whose sites are taken at random, columns in blocks: labels grow from neighbour to neighbour; what benchmark
! 0011 of the HPF suite does.
program percolation
integer, parameter :: n = 16, steps = 3
integer, dimension(0:n+1, 0:n+1) :: site, label, old
integer :: i, j, step
!hpf$ processors p(4)
!hpf$ template plane(0:n+1, 0:n+1)
!hpf$ align (i,j) with plane(i,j) :: site, label, old
!hpf$ distribute plane(*, block) onto p
forall (i = 0:n+1, j = 0:n+1) site(i,j) = min(1, mod(171 * (i * (n + 2) + j + 1), 269) / 100)
forall (i = 0:n+1, j = 0:n+1) label(i,j) = site(i,j) * (i * (n + 2) + j + 1)
do step = 1, steps
  old = label
  do j = 1, n
    do i = 1, n
      label(i,j) = site(i,j) * max(old(i,j), old(i-1,j), old(i+1,j), old(i,j-1), old(i,j+1))
    end do
  end do
end do
end program
