; How many paraffins (alkanes) there are with n carbon atoms, isomers counted once (n even or odd): by radicals with up to n / 2 atoms that hang on one
; carbon atom in the middle, or on both ends of one bond. Each number of radicals is a frame; it reads smaller ones before they are known.
;   pointsman tam examples/tam/paraffins.fun 12 --nodes 4
(define (main n)
  (let ((half (/ n 2)) (r (array (+ half 1))))
    (begin
      (put r 0 1)
      (radicals r 1 (+ half 1))
      (+ (on_atom r n) (on_bond r n)))))

; The larger half first, so that reads of it wait.
(define (radicals r from to)
  (if (>= from to)
      0
      (if (= (+ from 1) to)
          (at from (radical r from))
          (let ((middle (/ (+ from to) 2))) (+ (radicals r middle to) (radicals r from middle))))))

; Ways to take two, three, four of x things, repeated or not.
(define (two x) (/ (* x (+ x 1)) 2))
(define (three x) (/ (* x (+ x 1) (+ x 2)) 6))
(define (four x) (/ (* x (+ x 1) (+ x 2) (+ x 3)) 24))

; Three smaller radicals of i <= j <= k atoms, n - 1 together.
(define (radical r n)
  (put r n (loop ((i 0 (+ i 1)) (sum 0 (+ sum (radical_from r n i)))) (<= (* 3 i) (- n 1)) sum)))

(define (radical_from r n i)
  (loop ((j i (+ j 1)) (sum 0 (+ sum (together r i j (- n 1 i j))))) (<= (+ i (* 2 j)) (- n 1)) sum))

(define (together r i j k)
  (if (= i k)
      (three (ref r i))
      (if (= i j)
          (* (two (ref r i)) (ref r k))
          (if (= j k) (* (ref r i) (two (ref r j))) (* (ref r i) (ref r j) (ref r k))))))

(define (on_bond r n) (if (= (mod n 2) 0) (two (ref r (/ n 2))) 0))

; Four radicals of h <= i <= j <= k atoms, n - 1 together, none with n / 2 atoms or more.
(define (on_atom r n)
  (loop ((h 0 (+ h 1)) (sum 0 (+ sum (at h (atom_from r n h))))) (<= (* 4 h) (- n 1)) sum))

(define (atom_from r n h)
  (loop ((i h (+ i 1)) (sum 0 (+ sum (atom_two r n h i)))) (<= (+ h (* 3 i)) (- n 1)) sum))

(define (atom_two r n h i)
  (loop ((j i (+ j 1)) (sum 0 (let ((k (- n 1 h i j))) (if (< (* 2 k) n) (+ sum (atom r h i j k)) sum))))
        (<= (+ h i (* 2 j)) (- n 1)) sum))

(define (atom r h i j k)
  (if (= h j)
      (if (= j k) (four (ref r h)) (* (three (ref r h)) (ref r k)))
      (if (= h i)
          (if (= j k) (* (two (ref r h)) (two (ref r j))) (* (two (ref r h)) (ref r j) (ref r k)))
          (* (ref r h) (together r i j k)))))
