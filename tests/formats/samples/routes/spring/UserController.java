package shop;

@RestController
@RequestMapping("/api/users")
public class UserController {
    @GetMapping("/{id}")
    public User read(@PathVariable long id) {
        return users.find(id);
    }

    @RequestMapping(value = "/search", method = RequestMethod.POST)
    public List<User> search() {
        return null;
    }

    @DeleteMapping
    public void clear() {}
}
