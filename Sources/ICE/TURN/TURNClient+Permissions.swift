package import Media
import NIOCore

/// Permissions of peer addresses (RFC 8656, 9 and 10).
extension TURNClient {
  /// Requests a permission, so that the peers with this address can send. It is refreshed while data flows, and expires
  /// 5 minutes after the last call or datagram otherwise. Several addresses of one poll share a request.
  package mutating func addPermission(for address: IPAddress, now: MonotonicInstant) {
    _ = wantPermission(for: address, now: now)
  }

  /// Whether the server lets this address send to the client.
  package func hasPermission(for address: IPAddress, now: MonotonicInstant) -> Bool {
    permissions[address]?.isInstalled(now) ?? false
  }

  /// Records that a permission is wanted.
  ///
  /// - Returns: false if it was refused or cannot be requested.
  mutating func wantPermission(for address: IPAddress, now: MonotonicInstant) -> Bool {
    guard let index = permissions.index(forKey: address) else {
      guard permissions.count < Self.maximumPeers, state != .ended, state != .leaving else { return false }
      permissions[address] = TURNPermission(now: now)
      if state == .allocated { scheduleAdvance(now: now) }
      return true
    }
    if let refused = permissions.values[index].refusedUntil {
      if now < refused { return false }
      permissions.values[index].refusedUntil = nil
    }
    permissions.values[index].lastRequested = now
    let permission = permissions.values[index]
    if permission.nextRequest == nil, !permission.isInFlight {
      // An installed permission that was idle is refreshed at once if its time has come.
      let due = permission.expiry.map { $0 - (TURNTiming.permissionLifetime - TURNTiming.permissionRefresh) } ?? now
      permissions.values[index].nextRequest = max(now, due)
      if state == .allocated { scheduleAdvance(now: now) }
    }
    return true
  }

  mutating func advancePermissions(now: MonotonicInstant) {
    var due: [IPAddress] = []
    for (address, permission) in permissions {
      if let expiry = permission.expiry, expiry <= now {
        permissions[address]?.expiry = nil
        forgetChannels(of: address, now: now)
      }
      if let next = permission.nextRequest {
        if next <= now, !permission.isInFlight { due.append(address) }
      } else if !permission.isInFlight, permission.expiry.map({ $0 <= now }) ?? true,
        permission.refusedUntil.map({ $0 <= now }) ?? true
      {
        permissions[address] = nil
      }
    }
    guard !due.isEmpty, let lease else { return }

    var lastUsed: [IPAddress: MonotonicInstant] = [:]
    for (address, peer) in peers {
      lastUsed[address.ip] = max(lastUsed[address.ip] ?? peer.lastUsed, peer.lastUsed)
    }
    var together: [IPAddress] = []
    for address in due {
      guard let permission = permissions[address] else { continue }
      let used = max(permission.lastRequested, lastUsed[address] ?? permission.lastRequested)
      if now - used >= TURNTiming.idle || !lease.allocation.relayed.contains(where: { $0.family == address.family }) {
        permissions[address]?.nextRequest = nil
      } else if permission.isAlone {
        requestPermissions([address], now: now)
      } else {
        together.append(address)
      }
    }
    while !together.isEmpty {
      requestPermissions(Array(together.prefix(Self.maximumAddresses)), now: now)
      together.removeFirst(min(Self.maximumAddresses, together.count))
    }
  }

  private mutating func requestPermissions(_ addresses: [IPAddress], now: MonotonicInstant) {
    // Without room the addresses stay due.
    guard transactions.count < Self.maximumTransactions else { return }
    var request = STUNMessage(.request, method: .createPermission, transactionID: STUNTransactionID(high: 0, low: 0))
    for address in addresses {
      // The port is ignored (RFC 8656, 10.1).
      request.appendXorPeerAddress(TransportAddress(ip: address, port: 0))
      permissions[address]?.isInFlight = true
      permissions[address]?.nextRequest = nil
    }
    begin(.permissions(addresses), request, now: now)
  }

  mutating func permissionsSucceeded(
    _ addresses: [IPAddress], sent: MonotonicInstant, now: MonotonicInstant
  ) {
    for address in addresses {
      permissions[address]?.isInFlight = false
      permissionInstalled(for: address, sent: sent)
    }
    flushQueues(of: Set(addresses), now: now)
  }

  /// - Parameter sent: the time of the request, which is before the server's.
  mutating func permissionInstalled(for address: IPAddress, sent: MonotonicInstant) {
    guard let index = permissions.index(forKey: address) else { return }
    permissions.values[index].expiry = sent + TURNTiming.permissionLifetime
    permissions.values[index].refusedUntil = nil
    if !permissions.values[index].isInFlight {
      permissions.values[index].nextRequest = sent + TURNTiming.permissionRefresh
    }
  }

  mutating func permissionsRefused(_ addresses: [IPAddress], code: Int, now: MonotonicInstant) {
    for address in addresses {
      guard let index = permissions.index(forKey: address) else { continue }
      permissions.values[index].isInFlight = false
      if addresses.count > 1 {
        // The error may be for one of them only.
        permissions.values[index].isAlone = true
        permissions.values[index].nextRequest = now
      } else {
        permissions.values[index].refusedUntil = now + TURNTiming.refusal
        dropQueues(of: address)
        emit(.peerRefused(address, code: code), now: now)
      }
    }
  }

  mutating func permissionsUnanswered(_ addresses: [IPAddress], now: MonotonicInstant) {
    for address in addresses {
      permissions[address]?.isInFlight = false
      permissions[address]?.nextRequest = now + TURNTiming.retry
      dropQueues(of: address)
    }
  }

  /// After a loss: nothing is bound or permitted any more. What was used recently is requested from the next
  /// allocation.
  mutating func forgetBindings(now: MonotonicInstant) {
    channels = [:]
    for index in peers.values.indices {
      statistics.sendsDropped += UInt64(peers.values[index].queue.count)
      peers.values[index].queue = []
      peers.values[index].channel = nil
    }
    for index in permissions.values.indices {
      let isWanted = permissions.values[index].expiry != nil || permissions.values[index].nextRequest != nil
      permissions.values[index].expiry = nil
      if isWanted || permissions.values[index].isInFlight { permissions.values[index].nextRequest = now }
      permissions.values[index].isInFlight = false
    }
  }

  private mutating func flushQueues(of addresses: Set<IPAddress>, now: MonotonicInstant) {
    for index in peers.values.indices where !peers.values[index].queue.isEmpty {
      guard addresses.contains(peers.keys[index].ip) else { continue }
      let queue = peers.values[index].queue
      peers.values[index].queue = []
      for payload in queue { sendIndication(payload, to: peers.keys[index], now: now) }
    }
  }

  private mutating func dropQueues(of address: IPAddress) {
    for index in peers.values.indices where peers.keys[index].ip == address {
      statistics.sendsDropped += UInt64(peers.values[index].queue.count)
      peers.values[index].queue = []
    }
  }
}
