class_name Player
extends Node2D
signal died(reason)
const SPEED = 200
enum State { IDLE, RUN }
var health := 10
# Moves.
func move(delta: float) -> void:
	position.x += SPEED * delta
	emit(health)
class Inner:
	func f():
		pass
