; A kernel of the kind of Speech: Viterbi. A hidden Markov model with s states explains t sounds; scores are negative logarithms in whole numbers, and
; the best explanation has the least sum. Each state of each time is a frame, on the node of its state. Gives the least sum.
;   pointsman tam examples/tam/speech.fun 5 6 --nodes 4
(define (main s t)
  (let ((scores (array (* s t))))
    (begin
      (loop ((j 0 (begin (put scores j (emission j 0)) (+ j 1)))) (< j s) j)
      (loop ((k 1 (begin (column scores s k) (+ k 1)))) (< k t) k)
      (best scores s (* s (- t 1))))))

(define (emission state time) (mod (+ (* 13 state) (* 7 (sound time)) 5) 17))
(define (sound time) (mod (* (+ time 3) (+ time 1)) 11))
(define (change from to) (if (= from to) 1 (mod (+ (* 5 from) (* 3 to)) 9)))

; Given at once; its frames read what is not known yet.
(define (column scores s k) (begin (states scores s k 0 s) k))

(define (states scores s k from to)
  (if (= (+ from 1) to)
      (at from (state scores s k from))
      (let ((middle (/ (+ from to) 2))) (+ (states scores s k from middle) (states scores s k middle to)))))

(define (state scores s k j)
  (let ((before (* s (- k 1)))
        (least (loop ((i 1 (+ i 1))
                      (least (+ (ref scores before) (change 0 j)) (min least (+ (ref scores (+ before i)) (change i j)))))
                     (< i s) least)))
    (put scores (+ (* s k) j) (+ least (emission j k)))))

(define (best scores s from)
  (loop ((i 1 (+ i 1)) (least (ref scores from) (min least (ref scores (+ from i))))) (< i s) least))
