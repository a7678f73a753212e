export async function listPosts() {
  return [];
}
