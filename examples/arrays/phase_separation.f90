! Two phases that separate, with noise, by the equation of Cahn, Hilliard and Cook, columns in blocks: a potential from the neighbours,
! then its own differences; what benchmark 0014 of the HPF suite does.
program separation
integer, parameter :: n = 16, steps = 2
real, dimension(0:n+1, 0:n+1) :: c, potential
integer, dimension(0:n+1, 0:n+1) :: chance
integer :: i, j, step
!hpf$ processors p(4)
!hpf$ template plane(0:n+1, 0:n+1)
!hpf$ align (i,j) with plane(i,j) :: c, potential, chance
!hpf$ distribute plane(*, block) onto p
forall (i = 0:n+1, j = 0:n+1) chance(i,j) = 1 + mod(171 * (i * (n + 2) + j), 30269)
potential = 0.0
do step = 1, steps
  chance = mod(171 * chance, 30269)
  do j = 1, n
    do i = 1, n
      potential(i,j) = c(i,j) ** 3 - c(i,j) - (c(i-1,j) + c(i+1,j) + c(i,j-1) + c(i,j+1) - 4.0 * c(i,j))
    end do
  end do
  do j = 2, n - 1
    do i = 2, n - 1
      c(i,j) = c(i,j) + 0.01 * (potential(i-1,j) + potential(i+1,j) + potential(i,j-1) + potential(i,j+1) &
        - 4.0 * potential(i,j)) + 0.01 * (chance(i,j) / 30269.0 - 0.5)
    end do
  end do
end do
end program
