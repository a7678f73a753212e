<?php

declare(strict_types=1);

namespace App\Shop;

use App\Models\{User, Order as O};
use Psr\Log\LoggerInterface;
use function App\helper;
use const App\LIMIT;

require_once __DIR__ . '/bootstrap.php';
include 'config.php';

const RATE = 1.5, FEE = 2;
define('SHOP_NAME', 'x');

/**
 * Keeps what was bought.
 *
 * @package Shop
 */
#[Entity]
#[Table(name: 'carts')]
final class Cart extends Base\Model implements \Countable, JsonSerializable
{
    use Loggable, Cacheable {
        Loggable::log insteadof Cacheable;
    }

    public const LIMIT = 10;
    /** The lines. */
    private array $lines = [], $removed;
    protected static ?Cart $instance = null;

    // Makes an empty one.
    public function __construct(private readonly LoggerInterface $logger, int $limit = self::LIMIT)
    {
        parent::__construct();
        $this->limit = $limit;
    }

    /**
     * How many lines there are.
     */
    #[Pure]
    public function count(): int
    {
        $local = array_map(fn ($x) => $x * 2, $this->lines);
        $twice = function ($x) use ($local) {
            return $x;
        };
        return \count($local);
    }

    public static function create(): static
    {
        return new static(new Logger\File());
    }

    abstract protected function total(): float;
}

interface Storage extends \Traversable, Closable
{
    const MODE = 'r';

    public function find(string $key): ?User;
}

// Writes to the log.
trait Loggable
{
    protected $level;

    public function log(string $text): void
    {
        $this->logger->info($text);
        Cart::create()?->count();
    }
}

enum Status: string implements HasLabel
{
    /** In use. */
    case Open = 'o';
    case Closed = 'c';

    const DEFAULT = self::Open;

    public static function parse(string $text): self
    {
        return self::from($text);
    }
}

/* Adds two numbers. */
function add(int $a, int $b): int
{
    function inner() {}
    return $a + $b;
}

if (!function_exists('polyfill')) {
    function polyfill(): void {}
}

$handler = function () {
    return add(1, 2);
};

$object = new class extends Cart {
    public $x;
    public function run() {}
};
# The end.
