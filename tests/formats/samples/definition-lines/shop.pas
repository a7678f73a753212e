unit Shop;
interface
uses SysUtils, Cart;
type
  TUser = class(TObject)
  private
    FName: string;
  public
    constructor Create(const Name: string);
    function Greet: string;
  end;
procedure Run(Count: Integer);
implementation
function TUser.Greet: string;
begin
  Result := Format('Hi %s', [FName]);
end;
procedure Run(Count: Integer);
begin
  WriteLn(Count);
end;
end.
