extension SignallingClient {
  /// Connects, and tries again every 500 ms while the server cannot be reached.
  ///
  /// - Parameters:
  ///   - limit: how long to try; with `.zero` there is one attempt.
  ///   - report: called with the reason when the first attempt has failed and another one follows.
  public func connect(
    waiting limit: Duration, report: (String) -> Void = { _ in }
  ) async throws(SignallingConnectError) {
    let interval = Duration.milliseconds(500)
    let deadline = ContinuousClock.now + limit
    var isFirst = true
    while true {
      do throws(SignallingConnectError) {
        return try await connect()
      } catch {
        guard case .unreachable(let reason) = error, ContinuousClock.now + interval < deadline, !Task.isCancelled
        else { throw error }
        if isFirst { report(reason) }
        isFirst = false
        try? await Task.sleep(for: interval)
      }
    }
  }
}
