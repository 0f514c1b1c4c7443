internal import AsyncHTTPClient
internal import Media
internal import NIOCore
package import ObjectStore

/// The clock of a store, so that tests need not wait.
package struct S3Timing: Sendable {
  package var now: @Sendable () -> UTCTime
  package var sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 to 1.
  package var random: @Sendable () -> Double

  package init(
    now: @escaping @Sendable () -> UTCTime, sleep: @escaping @Sendable (Duration) async throws -> Void,
    random: @escaping @Sendable () -> Double
  ) {
    self.now = now
    self.sleep = sleep
    self.random = random
  }

  package static let real = S3Timing(
    now: { UTCTime(milliseconds: Int64(WallClock.read().secondsSince1970 * 1_000)) },
    sleep: { try await HTTPClient.defaultEventLoopGroup.any().sleep(for: $0) }, random: { Double.random(in: 0...1) })
}
