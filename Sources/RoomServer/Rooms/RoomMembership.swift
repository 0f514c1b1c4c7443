import Synchronization

/// Joins a room once, and leaves it even if it ends while it joins.
final class RoomMembership: Sendable {
  private enum State {
    case new
    case joining
    case joined(RoomMember)
    case ended
  }

  private let state = Mutex(State.new)

  /// Nil before the room is joined, and after the end.
  var member: RoomMember? {
    state.withLock { state in
      if case .joined(let member) = state { member } else { nil }
    }
  }

  /// Joins, unless that has begun before. After a failure it may be tried again.
  func begin(_ join: () async throws -> RoomMember) async throws {
    let isFirst = state.withLock { state in
      guard case .new = state else { return false }
      state = .joining
      return true
    }
    guard isFirst else { return }
    do {
      let member = try await join()
      let isWanted = state.withLock { state in
        guard case .joining = state else { return false }
        state = .joined(member)
        return true
      }
      if !isWanted { await member.leave() }
    } catch {
      state.withLock { state in
        if case .joining = state { state = .new }
      }
      throw error
    }
  }

  /// Leaves the room, and never joins it again.
  func end() async {
    let former = state.withLock { state in
      defer { state = .ended }
      return state
    }
    if case .joined(let member) = former { await member.leave() }
  }
}
