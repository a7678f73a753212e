output "network" {
  value = module.network.id
}

output "policy" {
  value = data.aws_iam_policy_document.read.json # not aws_s3_bucket.gone
}
