package import Media
package import NIOCore

extension MonotonicInstant {
  /// The instant of a deadline, for limits whose times all come from event loops: their clock is not `ContinuousClock`.
  package init(ofEventLoop deadline: NIODeadline) {
    self.init(sinceOrigin: .nanoseconds(Int64(clamping: deadline.uptimeNanoseconds)))
  }
}
