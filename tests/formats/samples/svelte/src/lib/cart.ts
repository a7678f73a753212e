export function useCart() {
  return [];
}
