package shop_pkg;
  function automatic int next(int value);
    return value + 1;
  endfunction
endpackage

// Counts up to a limit.
module counter #(parameter WIDTH = 8) (input clk, output reg [WIDTH-1:0] value);
always @(posedge clk) begin
  value <= value + 1;
end
task reset_all;
  value = 0;
endtask
endmodule
