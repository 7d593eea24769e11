! The Potts model, columns in blocks, by a heat bath: every second column takes the state of a neighbour or a random one, then the
! others do; what benchmark 0013 of the HPF suite does.
program potts
integer, parameter :: n = 16, steps = 2, states = 5
integer, dimension(0:n+1, 0:n+1) :: spin, chance, like
integer :: i, j, step
!hpf$ processors p(4)
!hpf$ template plane(0:n+1, 0:n+1)
!hpf$ align (i,j) with plane(i,j) :: spin, chance, like
!hpf$ distribute plane(*, block) onto p
forall (i = 0:n+1, j = 0:n+1) chance(i,j) = 1 + mod(171 * (i * (n + 2) + j), 30269)
forall (i = 0:n+1, j = 0:n+1) spin(i,j) = mod(chance(i,j), states)
like = 0
do step = 1, steps
  chance = mod(171 * chance, 30269)
  do j = 1, n, 2
    do i = 1, n
      like(i,j) = max(0, 1 - abs(spin(i,j) - spin(i,j-1))) + max(0, 1 - abs(spin(i,j) - spin(i,j+1)))
    end do
  end do
  do j = 2, n, 2
    do i = 1, n
      like(i,j) = max(0, 1 - abs(spin(i,j) - spin(i,j-1))) + max(0, 1 - abs(spin(i,j) - spin(i,j+1)))
    end do
  end do
  do j = 1, n, 2
    do i = 1, n
      spin(i,j) = mod(spin(i,j) + min(1, chance(i,j) / 10000) * max(0, 1 - like(i,j)) * (1 + spin(i,j-1)), states)
    end do
  end do
  do j = 2, n, 2
    do i = 1, n
      spin(i,j) = mod(spin(i,j) + min(1, chance(i,j) / 10000) * max(0, 1 - like(i,j)) * (1 + spin(i,j+1)), states)
    end do
  end do
end do
end program
