terraform {
  required_version = ">= 1.5"

  backend "s3" {
    bucket = "state"
  }
}

provider "aws" {
  region = var.region
}

# Where everything runs.
variable "region" {
  type    = string
  default = "eu-central-1"
}

locals {
  # Prefix of every name.
  prefix = "shop-${var.stage}"
  tags = {
    team = "platform"
  }
}

/* The bucket for access logs. */
resource "aws_s3_bucket" "logs" {
  bucket = "${local.prefix}-logs"
  tags   = local.tags

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_policy" "logs" {
  bucket = aws_s3_bucket.logs.id
  policy = data.aws_iam_policy_document.read.json
}

// Who may read the logs.
data "aws_iam_policy_document" "read" {
  statement {
    actions = ["s3:GetObject"]
  }
}

module "network" {
  source = "./modules/network"
  cidr   = cidrsubnet("10.0.0.0/8", 8, 1)
}

output "bucket_arn" {
  value = aws_s3_bucket.logs.arn
}
