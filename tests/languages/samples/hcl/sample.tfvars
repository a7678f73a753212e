# The stage that developers share.
stage  = "dev"
region = "eu-west-1"
