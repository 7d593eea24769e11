; A kernel of the kind of Simple: hydrodynamics and heat conduction, explicit, on a square of n by n cells that is closed all round. In each step
; pressure moves the gas, what flows changes densities, and heat flows between neighbours; a field is an I-structure for each row of cells,
; on a node of its own, so that a row of the new step begins as soon as rows beside it are known. Gives the sum of all energies.
;   pointsman tam examples/tam/simple.fun 4 2 --nodes 4
(define (main n steps)
  (let ((rho (field n)) (heat (field n)))
    (begin
      (rows rho heat n 0 n)
      (loop ((step 0 (+ step 1))
             (density rho (advance density energy n 0))
             (energy heat (advance density energy n 1)))
            (< step steps)
            (total energy n)))))

; Rows of a field, each on a node.
(define (field n)
  (let ((table (array n)))
    (begin (loop ((i 0 (begin (put table i (at i (array n))) (+ i 1)))) (< i n) i) table)))

(define (rows rho heat n from to)
  (if (= (+ from 1) to)
      (at from (start (ref rho from) (ref heat from) n from))
      (let ((middle (/ (+ from to) 2))) (+ (rows rho heat n from middle) (rows rho heat n middle to)))))

(define (start rho heat n i)
  (loop ((j 0 (begin (put rho j (+ 1.0 (/ (float (mod (* (+ i 1) (+ j 2)) 5)) 8.0)))
                     (put heat j (+ 2.0 (/ (float (mod (+ (* 3 i) j) 7)) 4.0)))
                     (+ j 1))))
        (< j n) j))

; The next step of densities (which = 0) or energies (1); it is given before its rows are known.
(define (advance density energy n which)
  (let ((new (field n))) (begin (if (= which 0) (new_density density energy new n 0 n) (new_energy density energy new n 0 n)) new)))

(define (new_density density energy new n from to)
  (if (= (+ from 1) to)
      (at from (row (beside density n from) (beside energy n from) (ref new from) n 0))
      (let ((middle (/ (+ from to) 2)))
        (+ (new_density density energy new n from middle) (new_density density energy new n middle to)))))

(define (new_energy density energy new n from to)
  (if (= (+ from 1) to)
      (at from (row (beside density n from) (beside energy n from) (ref new from) n 1))
      (let ((middle (/ (+ from to) 2)))
        (+ (new_energy density energy new n from middle) (new_energy density energy new n middle to)))))

; The row above, this one and the one below, as an I-structure of three.
(define (beside table n i)
  (let ((three (array 3)))
    (begin (put three 0 (ref table (max 0 (- i 1))))
           (put three 1 (ref table i))
           (put three 2 (ref table (min (- n 1) (+ i 1))))
           three)))

(define (row rho heat out n which)
  (let ((r0 (ref rho 0)) (r1 (ref rho 1)) (r2 (ref rho 2)) (h0 (ref heat 0)) (h1 (ref heat 1)) (h2 (ref heat 2)))
    (loop ((j 0 (let ((west (max 0 (- j 1))) (east (min (- n 1) (+ j 1)))
                      (r (ref r1 j)) (h (ref h1 j))
                      (hn (ref h0 j)) (hs (ref h2 j)) (hw (ref h1 west)) (he (ref h1 east))
                      (rn (ref r0 j)) (rs (ref r2 j)) (rw (ref r1 west)) (re (ref r1 east))
                      (pressures (- (+ (* rn hn) (* rs hs) (* rw hw) (* re he)) (* 4.0 (* r h)))))
                  (begin
                    (put out j (if (= which 0)
                                   (+ r (* 0.02 pressures))
                                   (let ((flow (- (+ hn hs hw he) (* 4.0 h))))
                                     (+ h (+ (* 0.05 flow) (/ (* 0.01 pressures) r))))))
                    (+ j 1)))))
          (< j n) j)))

(define (total energy n)
  (loop ((i 0 (+ i 1)) (sum 0.0 (+ sum (at i (row_sum (ref energy i) n))))) (< i n) sum))

(define (row_sum row n)
  (loop ((j 0 (+ j 1)) (sum 0.0 (+ sum (ref row j)))) (< j n) sum))
