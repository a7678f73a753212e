{-# LANGUAGE GADTs #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module: Data.Inventory
-- Keeps count of what is in stock.
module Data.Inventory
  ( Inventory
  , Item (..)
  , total
  , (<+>)
  ) where

import qualified Data.Map.Strict as Map
import Data.Maybe (fromMaybe)
import Foreign.C.Types (CDouble (..))

-- | Something that can be counted.
data Item = Item
  { itemName :: String
  , itemPrice :: Int
  }
  deriving (Show, Eq, Ord)

-- | How many of each item there are.
newtype Inventory = Inventory {counts :: Map.Map Item Int}

type Price = Int

data Command a where
  Add :: Item -> Command ()
  Count :: Command Int

type family Key a

-- | Things that have a price.
class Priced a where
  -- | The price of one.
  price :: a -> Price

  discounted :: Price -> a -> Price
  discounted off thing = price thing - off

instance Priced Item where
  price = itemPrice

instance Priced a => Priced (Maybe a) where
  price Nothing = 0
  price (Just a) = price a

type instance Key Item = String

-- | What everything costs.
total :: Inventory -> Price
total (Inventory m)
  | Map.null m = 0
  | otherwise = sum (map line (Map.toList m))
  where
    line (item, n) = scale n
      where
        scale k = k * price item

-- | The number of an item that is in stock.
stock :: Item -> Inventory -> Int
stock item (Inventory m) = fromMaybe 0 (Map.lookup item m)

-- | Runs a command.
run :: Command a -> Inventory -> a
run (Add _) _ = ()
run Count inventory = size inventory

size, capacity :: Inventory -> Int
size = Map.size . counts
capacity _ = limit

-- | Puts two inventories together.
(<+>) :: Inventory -> Inventory -> Inventory
Inventory a <+> Inventory b = Inventory (Map.unionWith (+) a b)

infixr 5 <+>

limit :: Int
limit = 100

foldl' :: (b -> a -> b) -> b -> [a] -> b
foldl' _ z [] = z
foldl' f z (x : xs) =
  let z' = f z x
   in foldl' f z' xs

foreign import ccall "math.h sin" c_sin :: CDouble -> CDouble
