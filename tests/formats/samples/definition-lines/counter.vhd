library ieee;
entity counter is
  port (clk : in std_logic);
end entity;

architecture rtl of counter is
begin
  count : process (clk)
  begin
    null;
  end process;
end architecture;
