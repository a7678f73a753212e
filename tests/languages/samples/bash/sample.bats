#!/usr/bin/env bats

load test_helper

setup() {
  WORKDIR="$(mktemp -d)"
}

# The simplest case.
@test "deploy without a host prints usage" {
  run deploy
  [ "$status" -eq 2 ]
}

@test 'deploy copies the build' {
  run deploy alpha
  assert_success
}
