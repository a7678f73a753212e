using System;
using System.Collections.Generic;
using static System.Math;
using Json = Newtonsoft.Json.Linq;

namespace Shop.Orders
{
    /// <summary>What a customer bought.</summary>
    [Serializable]
    public abstract partial class Order<T> : Entity<T>, IComparable<Order<T>>, Contracts.IDisposable where T : class
    {
        /// <summary>The most lines there can be.</summary>
        public const int MAX_LINES = 100;
        private readonly List<Line> lines = new List<Line>(), removed;
        public event EventHandler Changed;

        // Makes an empty order.
        public Order(string id) : base(id)
        {
            Id = id;
        }

        static Order() { }

        ~Order() { Dispose(); }

        public string Id { get; private set; }

        public int Count => lines.Count;

        public Line this[int index]
        {
            get { return lines[index]; }
        }

        /**
         * Adds a line.
         */
        [Obsolete("use Append"), Pure]
        public async Task<int> Add<TLine>(TLine line) where TLine : Line
        {
            var local = 1;
            int Twice(int x) => 2 * x;
            lines.Add(line);
            Changed?.Invoke(this, EventArgs.Empty);
            return await Save<int>(Twice(local));
        }

        protected abstract decimal Total();

        public static Order<T> operator +(Order<T> a, Order<T> b) => a;
        public static implicit operator string(Order<T> order) => order.Id;

        void IDisposable.Dispose() { }

        public event EventHandler Saved
        {
            add { }
            remove { }
        }

        private class Cache
        {
            internal int Hits;
        }
    }

    public struct Money : IEquatable<Money>
    {
        public decimal Amount;
    }

    // Where orders are kept.
    public interface IStore<in T> : IEnumerable<T>
    {
        int Size { get; }
        T Find(string key);
    }

    [Flags]
    public enum Status : byte
    {
        /// <summary>Just made.</summary>
        Open = 1,
        Closed,
    }

    public record Point(int X, int Y) : Shape(X);
    public record struct Pair { public int Left { get; init; } }

    public delegate void Handler(object sender);

    public static class Extensions
    {
        public static string Show(this Money money) => Max(1, 2).ToString() + new Json.Item(3);
    }
}

namespace Shop.Tests { class Empty { } }
