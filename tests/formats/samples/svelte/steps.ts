export function step(n: number) {
  return n + 1;
}
