variable "name" {}

resource "aws_subnet" "main" {
  tags = { Name = var.name }
}

output "subnet_id" {
  value = aws_subnet.main.id
}
