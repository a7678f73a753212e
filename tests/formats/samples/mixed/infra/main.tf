variable "region" {
  default = "eu-west-1"
}

locals {
  name = "shop-${var.region}"
}

module "net" {
  source = "./modules/net"
  name   = local.name
}

resource "aws_instance" "web" {
  subnet_id = module.net.subnet_id
  user_data = file("../scripts/deploy.sh")
}

output "address" {
  value = aws_instance.web.private_ip
}
