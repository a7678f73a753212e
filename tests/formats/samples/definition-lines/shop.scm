(define (total items)
  (apply + items))
(define limit 10)
(define-record-type item (make-item name) item?)
