/// The condition that a test waited for did not hold in time.
package struct NeverHappened: Error {
  package let within: Duration

  package init(within limit: Duration) { within = limit }
}
