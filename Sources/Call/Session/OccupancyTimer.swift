internal import Media
internal import NIOCore
internal import Synchronization

/// Calls a function when a ``RoomOccupancy`` ends the call.
final class OccupancyTimer: Sendable {
  private struct State {
    var occupancy: RoomOccupancy
    var deadline: MonotonicInstant?
    var timer: Scheduled<Void>?
    var isStopped = false
  }

  private let state: Mutex<State>
  private let loop: any EventLoop
  private let ended: @Sendable (RoomCall.EndReason) -> Void

  init(
    _ occupancy: RoomOccupancy, on loop: any EventLoop, ended: @escaping @Sendable (RoomCall.EndReason) -> Void
  ) {
    state = Mutex(State(occupancy: occupancy))
    self.loop = loop
    self.ended = ended
  }

  /// Changes the occupancy, and sets the timer to its new deadline.
  func update(_ change: (inout RoomOccupancy) -> Void) {
    state.withLock { state in
      change(&state.occupancy)
      let deadline = state.isStopped ? nil : state.occupancy.deadline
      guard deadline != state.deadline else { return }
      state.deadline = deadline
      setTimer(&state)
    }
  }

  private func setTimer(_ state: inout State) {
    state.timer?.cancel()
    state.timer = state.deadline.map { deadline in
      loop.scheduleTask(in: TimeAmount(max(.zero, deadline - .now))) { [weak self] in self?.check() }
    }
  }

  private func check() {
    let reason = state.withLock { state -> RoomCall.EndReason? in
      if state.isStopped { return nil }
      let reason = state.occupancy.endReason(now: .now)
      // An event may have moved the deadline while the timer was due.
      if reason == nil { setTimer(&state) }
      return reason
    }
    if let reason { ended(reason) }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.timer?.cancel()
      state.timer = nil
    }
  }
}
