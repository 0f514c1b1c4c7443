internal import Media
internal import Signalling

/// Finds out what to do in a database before the first poll: the room, our role, and documents left behind.
struct FirestoreJoiner: Sendable {
  /// The result of the deletion of old documents.
  struct Cleared: Sendable {
    let serverTime: FirestoreTimestamp
    let removedAny: Bool
  }

  let store: FirestoreStore
  let address: FirestoreAddress
  let timing: LayoutTiming

  func join() async throws(SignallingConnectError) -> (any SignallingLayout, Cleared) {
    do throws(FirestoreError) {
      let layout = try await layout()
      // Nobody waits any more, and another attempt may be writing.
      if Task.isCancelled { throw .busy(status: 0, retryAfter: nil) }
      return (layout, try await store.clear(layout))
    } catch {
      throw SignallingConnectError(error)
    }
  }

  private func layout() async throws(FirestoreError) -> any SignallingLayout {
    switch address.place {
    case .person(let me, let peer, let role):
      return PersonSignalling(me: me, peer: peer, role: role, timing: timing)
    case .room(let wanted, let role, let isCreated):
      let room = try await room(wanted, isCreated: isCreated)
      if let role { return RoomSignalling(room: room, role: role, timing: timing) }
      let offer = try await store.get(ConnectionDocuments.room(room, role: "host").description)
      return RoomSignalling(room: room, role: offer == nil ? .host : .guest, isTentative: true, timing: timing)
    }
  }

  /// Finds a room by its id, else by its name.
  private func room(_ wanted: FirestoreID, isCreated: Bool) async throws(FirestoreError) -> FirestoreID {
    let rooms = CollectionPath("rooms")
    if try await store.get(rooms.document(wanted)) != nil { return wanted }
    let named = try await store.list(rooms).filter { $0.fields["name"]?.text == UntrustedText(wanted.text) }
    if named.count > 1 {
      throw .rejected(
        status: 200, message: "\(named.count) rooms are called \"\(wanted.text.printable())\"; use the id of one")
    }
    if let room = named.first { return room.path.id }
    guard isCreated else { throw .notFound("A room with the id or name \"\(wanted.text.printable())\"") }
    do throws(FirestoreError) {
      _ = try await store.commit([.create(rooms.document(wanted), ["name": .string(UntrustedText(wanted.text))])])
    } catch {
      // Two programs that start at once create the same room.
      guard case .rejected(409, _) = error, try await store.get(rooms.document(wanted)) != nil else { throw error }
    }
    return wanted
  }
}

extension FirestoreStore {
  /// Deletes the documents of a layout.
  func clear(_ layout: any SignallingLayout) async throws(FirestoreError) -> FirestoreJoiner.Cleared {
    var writes: [FirestoreWrite] = []
    var removedAny = false
    if layout.cleared.isEmpty {
      return FirestoreJoiner.Cleared(serverTime: FirestoreTimestamp(seconds: 0), removedAny: false)
    }
    for side in layout.cleared {
      let existing = try await list(side.candidates).map(\.path)
      if !existing.isEmpty { removedAny = true }
      if !removedAny, try await get(side.description) != nil { removedAny = true }
      writes += side.clearing(existing: existing)
    }
    return FirestoreJoiner.Cleared(serverTime: try await commit(writes), removedAny: removedAny)
  }

  /// Carries out a change of a layout in one commit.
  func carryOut(
    _ change: DocumentChange, of layout: any SignallingLayout
  ) async throws(FirestoreError) -> FirestoreJoiner.Cleared {
    switch change {
    case .clear: return try await clear(layout)
    case .write(let description):
      let existing = try await list(layout.outgoing.candidates).map(\.path)
      let isNew = layout.successor != nil
      let writes = layout.outgoing.replacing(with: description, existing: existing, isNew: isNew)
      let time = isNew ? try await create(writes, with: description, of: layout) : try await commit(writes)
      return FirestoreJoiner.Cleared(serverTime: time, removedAny: !existing.isEmpty)
    case .add(let candidate, let index):
      let time = try await commit([layout.outgoing.adding(candidate, index: index)])
      return FirestoreJoiner.Cleared(serverTime: time, removedAny: false)
    }
  }

  /// Commits the writes of a description that must not exist.
  ///
  /// - Throws: `occupied` if another program's description exists.
  private func create(
    _ writes: [FirestoreWrite], with description: OutgoingDescription, of layout: any SignallingLayout
  ) async throws(FirestoreError) -> FirestoreTimestamp {
    do throws(FirestoreError) {
      return try await commit(writes)
    } catch {
      // Status 409 also means contention. Then there is no description yet.
      guard case .rejected(409, _) = error, let document = try await get(layout.outgoing.description) else {
        throw error
      }
      // The response to an earlier attempt of ours may have been lost.
      guard document.fields["sdp"]?.text == UntrustedText(description.sdp) else {
        throw .occupied("The document \(layout.outgoing.description)")
      }
      return document.updateTime
    }
  }
}
