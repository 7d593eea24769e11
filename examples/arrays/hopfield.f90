! A Hopfield network: every neuron hears all others, columns of weights in blocks; what benchmark 0053 of the HPF suite does.
program hopfield
integer, parameter :: n = 16, steps = 3
real, dimension(n, n) :: w
real, dimension(n) :: s, h
integer :: i, j, step
!hpf$ processors p(4)
!hpf$ template columns(n, n)
!hpf$ align (i,j) with columns(i,j) :: w
!hpf$ align (j) with columns(1,j) :: s, h
!hpf$ distribute columns(*, block) onto p
do step = 1, steps
  do j = 1, n
    h(j) = 0.0
  end do
  do j = 1, n
    do i = 1, n
      h(j) = h(j) + w(i,j) * s(i)
    end do
  end do
  do j = 1, n
    if (step > 1) then
      s(j) = sign(1.0, h(j) - 8.0)
    else
      s(j) = h(j) / n
    end if
  end do
end do
end program
