! The five patterns of a particle-mesh method, of the kind of P3M: a cube of blocks, as planes for the transforms along two axes, as
! columns for the third, and back; then the six neighbours in the cube. Planes over all processors have their number in three digits.
program particles
integer, parameter :: n = 8
real, dimension(0:n-1, 0:n-1, 0:n-1) :: rho, force
real, dimension(0:n-1, 0:n-1, 0:1, 0:1, 0:n/4-1) :: plane
real, dimension(0:1, 0:n/2-1, 0:1, 0:n/2-1, 0:n-1) :: column
integer :: x, y, z, a, b, c, d
!hpf$ processors p(2, 2)
!hpf$ template cube(0:n-1, 0:n-1, 0:n-1)
!hpf$ template planes(0:n-1, 0:n-1, 0:1, 0:1, 0:n/4-1)
!hpf$ template columns(0:1, 0:n/2-1, 0:1, 0:n/2-1, 0:n-1)
!hpf$ align (x,y,z) with cube(x,y,z) :: rho, force
!hpf$ align (x,y,a,b,c) with planes(x,y,a,b,c) :: plane
!hpf$ align (a,x,b,y,z) with columns(a,x,b,y,z) :: column
!hpf$ distribute cube(*, block, block) onto p
!hpf$ distribute planes(*, *, block, block, *) onto p
!hpf$ distribute columns(block, *, block, *, *) onto p
forall (x = 0:n-1, y = 0:n-1, a = 0:1, b = 0:1, c = 0:n/4-1) plane(x,y,a,b,c) = rho(x,y,n/2*a+n/4*b+c)
plane = 0.5 * plane
forall (a = 0:1, c = 0:n/2-1, b = 0:1, d = 0:n/2-1, x = 0:1, y = 0:1, z = 0:n/4-1)
  column(a,c,b,d,n/2*x+n/4*y+z) = plane(n/2*a+c,n/2*b+d,x,y,z)
end forall
column = 2.0 * column - 1.0
forall (a = 0:1, c = 0:n/2-1, b = 0:1, d = 0:n/2-1, x = 0:1, y = 0:1, z = 0:n/4-1)
  plane(n/2*a+c,n/2*b+d,x,y,z) = column(a,c,b,d,n/2*x+n/4*y+z)
end forall
forall (x = 0:n-1, y = 0:n-1, a = 0:1, b = 0:1, c = 0:n/4-1) rho(x,y,n/2*a+n/4*b+c) = plane(x,y,a,b,c)
forall (x = 1:n-2, y = 1:n-2, z = 1:n-2)
  force(x,y,z) = rho(x-1,y,z) + rho(x+1,y,z) + rho(x,y-1,z) + rho(x,y+1,z) + rho(x,y,z-1) + rho(x,y,z+1) - 6.0 * rho(x,y,z)
end forall
end program
