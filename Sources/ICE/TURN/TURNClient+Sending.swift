package import Media
package import NIOCore

/// Data to peers: on channels (RFC 8656, 12) and in Send indications (RFC 8656, 11).
extension TURNClient {
  /// Sends a datagram to a peer through the server.
  ///
  /// The first one requests the permission and waits for it with at most three others. Without an allocation or a
  /// permission, or with more than 256 peers, the datagram is dropped and counted. On a channel the cost is one lookup
  /// and four bytes; a payload with four bytes before its reader index and storage of its own is not copied.
  package mutating func send(
    _ payload: consuming ByteBuffer, to peer: TransportAddress, now: MonotonicInstant
  ) {
    guard state == .allocated, payload.readableBytes <= Self.maximumPayload else {
      statistics.sendsDropped += 1
      return
    }
    if let index = peers.index(forKey: peer) {
      peers.values[index].lastUsed = now
      if let channel = peers.values[index].channel, channel.isBound(now) {
        statistics.sentOnChannels += 1
        lease?.lastSent = now
        let frame = TURNChannelData.frame(consume payload, channel: channel.number, isPadded: transport == .stream)
        emit(.send(frame), now: now)
        return
      }
    }
    guard canReach(peer), let index = peerIndex(peer, now: now) else {
      statistics.sendsDropped += 1
      return
    }
    if permissions[peer.ip]?.isInstalled(now) == true {
      sendIndication(payload, to: peer, now: now)
      if peers.values[index].countSent(now: now) { bindChannel(to: peer, now: now) }
    } else if wantPermission(for: peer.ip, now: now) {
      if peers.values[index].queue.count >= TURNPeer.maximumQueue {
        peers.values[index].queue.removeFirst()
        statistics.sendsDropped += 1
      }
      peers.values[index].queue.append(payload)
    } else {
      statistics.sendsDropped += 1
    }
  }

  mutating func sendIndication(_ payload: ByteBuffer, to peer: TransportAddress, now: MonotonicInstant) {
    var message = STUNMessage(.indication, method: .send, transactionID: .random(using: &generator))
    message.appendXorPeerAddress(peer)
    message.data = payload
    var datagram = ByteBuffer()
    message.write(into: &datagram)
    statistics.sentInIndications += 1
    lease?.lastSent = now
    emit(.send(datagram), now: now)
  }

  private func canReach(_ peer: TransportAddress) -> Bool {
    peer.isReachable && lease?.allocation.relayed.contains { $0.family == peer.family } == true
  }

  /// Returns the place of a peer, which is added if it is new; nil at the limit.
  private mutating func peerIndex(
    _ address: TransportAddress, now: MonotonicInstant
  ) -> Dictionary<TransportAddress, TURNPeer>.Index? {
    if let index = peers.index(forKey: address) { return index }
    if peers.count >= Self.maximumPeers {
      // The longest unused peer without channel makes room.
      let candidates = peers.filter { $0.value.channel == nil && $0.value.queue.isEmpty }
      guard let oldest = candidates.min(by: { $0.value.lastUsed < $1.value.lastUsed }),
        now - oldest.value.lastUsed > .seconds(30)
      else { return nil }
      peers[oldest.key] = nil
    }
    peers[address] = TURNPeer(now: now)
    return peers.index(forKey: address)
  }

  // MARK: Channels

  /// Binds a channel to a peer that media will flow to. `send` does so by itself after eight datagrams within a second.
  package mutating func bindChannel(to peer: TransportAddress, now: MonotonicInstant) {
    guard state == .allocated, canReach(peer), let index = peerIndex(peer, now: now) else { return }
    peers.values[index].lastUsed = now
    if let channel = peers.values[index].channel {
      guard !channel.isBound(now), channel.nextRequest == nil, !channel.isInFlight else { return }
      peers.values[index].channel?.nextRequest = now
    } else {
      guard channels.count < Self.maximumPeers, let number = freeChannel() else { return }
      channels[number] = peer
      peers.values[index].channel = TURNPeer.Channel(number: number, nextRequest: now)
    }
    // A binding installs the permission too (RFC 8656, 12.2).
    _ = wantPermission(for: peer.ip, now: now)
    scheduleAdvance(now: now)
  }

  /// The channel of a peer, if it is bound.
  package func channel(of peer: TransportAddress, now: MonotonicInstant) -> UInt16? {
    guard let channel = peers[peer]?.channel, channel.isBound(now) else { return nil }
    return channel.number
  }

  /// Returns the next number that is not assigned. At most 256 of the 4,096 are.
  private mutating func freeChannel() -> UInt16? {
    for _ in 0...channels.count {
      let number = nextChannel
      nextChannel = number == TURNChannelData.channels.upperBound ? TURNChannelData.channels.lowerBound : number + 1
      if channels[number] == nil { return number }
    }
    return nil
  }

  mutating func advanceChannels(now: MonotonicInstant) {
    for (address, peer) in peers {
      let isIdle = now - peer.lastUsed >= TURNTiming.idle
      guard let channel = peer.channel else {
        if isIdle, peer.queue.isEmpty { peers[address] = nil }
        continue
      }
      if let next = channel.nextRequest, next <= now {
        if isIdle {
          peers[address]?.channel?.nextRequest = nil
        } else if transactions.count < Self.maximumTransactions {
          requestChannel(channel.number, for: address, now: now)
        }
      } else if channel.nextRequest == nil, !channel.isInFlight,
        channel.expiry.map({ $0 + TURNTiming.channelReuse <= now }) ?? true
      {
        peers[address]?.channel = nil
        channels[channel.number] = nil
      }
    }
  }

  private mutating func requestChannel(_ number: UInt16, for peer: TransportAddress, now: MonotonicInstant) {
    var request = STUNMessage(.request, method: .channelBind, transactionID: STUNTransactionID(high: 0, low: 0))
    request.channelNumber = number
    request.appendXorPeerAddress(peer)
    peers[peer]?.channel?.isInFlight = true
    peers[peer]?.channel?.nextRequest = nil
    begin(.channel(number, peer), request, now: now)
  }

  mutating func channelSucceeded(
    _ peer: TransportAddress, sent: MonotonicInstant, now: MonotonicInstant
  ) {
    guard let index = peers.index(forKey: peer) else { return }
    peers.values[index].channel?.isInFlight = false
    peers.values[index].channel?.expiry = sent + TURNTiming.channelLifetime
    peers.values[index].channel?.nextRequest = sent + TURNTiming.channelRefresh
    permissionInstalled(for: peer.ip, sent: sent)
    let queue = peers.values[index].queue
    peers.values[index].queue = []
    for payload in queue { send(payload, to: peer, now: now) }
  }

  mutating func channelFailed(_ peer: TransportAddress, pause: Duration, now: MonotonicInstant) {
    peers[peer]?.channel?.isInFlight = false
    peers[peer]?.channel?.nextRequest = now + pause
  }

  /// Data on a channel needs the permission, so the bindings of an address end with it. The same number is bound to the
  /// same peer when data flows again.
  mutating func forgetChannels(of address: IPAddress, now: MonotonicInstant) {
    for index in peers.values.indices where peers.keys[index].ip == address {
      guard let expiry = peers.values[index].channel?.expiry, expiry > now else { continue }
      peers.values[index].channel?.expiry = now
      peers.values[index].channel?.nextRequest = nil
    }
  }
}
