! The five patterns of a particle-mesh method, of the kind of P3M: a cube of blocks, as planes for the transforms along two axes, as
! columns for the third, and back; then the six neighbours in the cube.
program particles
integer, parameter :: n = 8
real, dimension(0:n-1, 0:n-1, 0:n-1) :: rho, force
integer :: x, y, z
!hpf$ processors square(4, 2)
!hpf$ processors line(8)
!hpf$ processors blocks(2, 2, 2)
!hpf$ template cube(0:n-1, 0:n-1, 0:n-1)
!hpf$ align (x,y,z) with cube(x,y,z) :: rho, force
!hpf$ distribute cube(block, block, block) onto blocks
!hpf$ redistribute cube(*, *, block) onto line
forall (x = 0:n-1, y = 0:n-1, z = 0:n-1) rho(x,y,z) = 0.5 * (rho(x,y,z) + rho(n-1-x,n-1-y,z))
!hpf$ redistribute cube(block, block, *) onto square
forall (x = 0:n-1, y = 0:n-1, z = 0:n-1) rho(x,y,z) = 0.5 * (rho(x,y,z) - rho(x,y,n-1-z))
!hpf$ redistribute cube(*, *, block) onto line
rho = 2.0 * rho - 1.0
!hpf$ redistribute cube(block, block, block) onto blocks
forall (x = 1:n-2, y = 1:n-2, z = 1:n-2)
  force(x,y,z) = rho(x-1,y,z) + rho(x+1,y,z) + rho(x,y-1,z) + rho(x,y+1,z) + rho(x,y,z-1) + rho(x,y,z+1) - 6.0 * rho(x,y,z)
end forall
end program
