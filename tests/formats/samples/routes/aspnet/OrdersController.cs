[ApiController]
[Route("api/[controller]")]
public class OrdersController : ControllerBase
{
    [HttpGet("{id:int}")]
    public Order Read(int id) { return null; }

    [HttpPost]
    public Order Place() { return null; }
}
