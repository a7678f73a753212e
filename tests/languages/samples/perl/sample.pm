package Shop::Cart;

use strict;
use warnings;
use parent qw(Shop::Base Exporter);
use List::Util qw(sum);
require Shop::Item;

our $VERSION = '1.02';
our @EXPORT_OK = qw(total);
my %cache;

use constant MAX_ITEMS => 50;
use constant {
    EMPTY => 0,
    FULL  => 1,
};

=head1 NAME

Shop::Cart - what a customer is about to buy

=cut

# Makes an empty cart.
sub new {
    my ($class, %args) = @_;
    my $self = bless { items => [], %args }, $class;
    $self->init;
    return $self;
}

=head2 add

Puts an item into the cart.

=cut

sub add {
    my ($self, $item) = @_;
    die "full" if @{ $self->{items} } >= MAX_ITEMS;
    push @{ $self->{items} }, Shop::Item->wrap($item);
    my $log = sub { print "added\n" };
    $log->();
}

# The price of everything.
sub total {
    my $self = shift;
    return sum(map { price_of($_) } @{ $self->{items} });
}

sub price_of { return Shop::Price::lookup(shift) }

my $printer = sub {
    my ($cart) = @_;
    print $cart->total, "\n";
};

package Shop::Cart::Error {
    sub message { return "cart error" }
}

1;

__END__

=head1 AUTHOR

sub not_code { }
