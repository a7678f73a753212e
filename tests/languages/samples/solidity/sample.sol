// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "./Base.sol";
import {IERC20, SafeMath as Math} from "lib/tokens.sol";

error Unauthorized(address who);
uint256 constant SCALE = 1e18;
type Price is uint128;

struct Point {
    uint256 x;
    uint256 y;
}

/// @notice What a vault must offer.
interface IVault {
    event Deposited(address indexed from, uint256 amount);

    function deposit(uint256 amount) external returns (bool);
}

library Maths {
    function half(uint256 n) internal pure returns (uint256) {
        return n / 2;
    }
}

/**
 * @title Keeps tokens for people.
 */
contract Vault is Base, IVault {
    using Maths for uint256;

    enum State { Open, Closed }

    uint256 public constant FEE = 3;
    mapping(address => uint256) private balances;
    State internal state;

    // Only for the owner.
    modifier onlyOwner() {
        if (msg.sender != owner) revert Unauthorized(msg.sender);
        _;
    }

    constructor(IERC20 token) Base(token) {
        state = State.Open;
    }

    /// @notice Puts tokens in.
    /// @param amount how many
    function deposit(uint256 amount) external override returns (bool) {
        uint256 local = amount.half();
        balances[msg.sender] += local;
        emit Deposited(msg.sender, amount);
        return check(local);
    }

    function close() external onlyOwner {
        state = State.Closed;
        new Base(address(0));
    }

    receive() external payable {}

    fallback() external {}
}

abstract contract Pausable {
    function pause() public virtual;
}

function check(uint256 n) pure returns (bool) {
    return n > 0;
}
