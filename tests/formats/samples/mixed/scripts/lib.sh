say() {
  echo "$1"
}
