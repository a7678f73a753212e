variable "stage" {
  description = "Which environment this is"
}
