{ pkgs, lib, ... }:
let
  helper = x: x + 1;
  version = "1";
in {
  imports = [ ./hardware.nix ../common ];
  services.nginx.enable = true;
  environment = { packages = with pkgs; [ git ]; };
  run = helper 3;
  other = import ./other.nix { inherit pkgs; };
}
