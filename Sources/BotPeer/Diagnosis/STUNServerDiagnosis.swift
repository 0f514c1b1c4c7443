internal import ICE
internal import Media
internal import NIOCore

/// What one address of a STUN server showed about the network.
public struct STUNServerDiagnosis: Sendable, Hashable, Codable {
  public var url: String
  /// The address that was asked, for example `203.0.113.10:3478`; nil if the name could not be resolved.
  public var address: String?
  public var isReachable = false
  /// In milliseconds.
  public var roundTripTime: Double?
  /// Our address as the server sees it.
  public var mapped: String?
  /// `no address translation`, `endpoint-independent`, `address-dependent`, `address and port-dependent`, or
  /// `address-dependent or address and port-dependent`; nil if unknown (RFC 4787, 4.1).
  public var mapping: String?
  /// What was compared, or why the mapping is unknown.
  public var mappingMethod: String?
  /// `endpoint-independent`, `address-dependent` or `address and port-dependent`; nil if unknown (RFC 4787, 5).
  public var filtering: String?
  /// What was tested, or why the filtering is unknown.
  public var filteringMethod: String?
  /// Why the server gave no mapped address, as a sentence.
  public var failure: String?

  public init(url: String) {
    self.url = url
  }

  /// Whether the NAT uses the same public address towards everybody, so that STUN alone reveals it; nil if unknown.
  public var isMappingIndependent: Bool? {
    switch mapping.flatMap(NATMapping.init(rawValue:)) {
    case .noTranslation, .endpointIndependent: true
    case .addressDependent, .addressAndPortDependent, .dependent: false
    case nil: nil
    }
  }

  /// What the behaviour means for calls, as a sentence; nil if the server has not answered.
  public var meaning: String? {
    guard isReachable else { return nil }
    switch (isMappingIndependent, filtering.flatMap(NATFiltering.init(rawValue:))) {
    case (true?, .endpointIndependent):
      return "Everybody with UDP can be called directly."
    case (true?, .addressDependent):
      return "Everybody with UDP can be called directly, because both sides send."
    case (true?, .addressAndPortDependent):
      return "Direct calls work, except with users whose NAT has a port for each destination: they need a TURN server."
    case (true?, nil):
      return "Direct calls work, except perhaps with users whose NAT has a port for each destination."
    case (false?, _):
      return
        "Direct calls work only with users who let in datagrams from any port of an address: "
        + "all others need a TURN server."
    case (nil, _): return "Direct calls may work: the mapping behaviour is unknown."
    }
  }
}

/// Measures with one address of a STUN server.
struct STUNServerMeasurement: Sendable {
  let url: String
  let server: TransportAddress
  let otherServers: [TransportAddress]
  let loop: any EventLoop
  let start: MonotonicInstant
  let timeout: Duration
  let sources: SourceAddresses
  /// The prefix by which an IPv4 server is reached.
  let nat64: NAT64Prefix?

  func result() async -> STUNServerDiagnosis {
    var result = STUNServerDiagnosis(url: url)
    result.address = "\(server)"
    let inbox = ProbeInbox(on: loop)
    do {
      let local = try ProbeSource(toward: server, of: sources)
      let mapping = try await ProbeDatagrams(at: local, as: .mapping, inbox)
      defer { mapping.close() }
      let filtering = try await ProbeDatagrams(at: local, as: .filtering, inbox)
      defer { filtering.close() }
      let behavior = await measure(mapping, filtering, inbox)
      result.isReachable = behavior.mapped != nil
      result.roundTripTime = behavior.roundTrip?.tenthsOfMilliseconds
      result.mapped = behavior.mapped?.description
      result.mapping = behavior.mapping?.rawValue
      result.mappingMethod = behavior.mappingMethod
      result.filtering = behavior.filtering?.rawValue
      result.filteringMethod = behavior.filteringMethod
      result.failure = behavior.failure
    } catch let error as ProbeSource.NoRoute {
      result.failure = "There is no route to the STUN server: \(error.reason)."
    } catch {
      result.failure = "No UDP socket could be opened: \(ProbeStream.reason(error))."
    }
    return result
  }

  private func measure(
    _ mapping: ProbeDatagrams, _ filtering: ProbeDatagrams, _ inbox: ProbeInbox
  ) async -> NATBehavior {
    // The server's first answer, and then at most two tests one after the other.
    var probe = NATBehaviorProbe(
      server: server, otherServers: otherServers, local: mapping.address, nat64: nat64,
      patience: min(.seconds(4), timeout / 2),
      testPatience: min(.seconds(2), timeout / 4), now: .now)
    let end = start + timeout
    var reader = inbox.reader()
    while true {
      for transmission in probe.poll(now: .now) {
        let socket = transmission.origin == .mapping ? mapping : filtering
        socket.send(transmission.datagram, to: transmission.destination)
      }
      guard !probe.isDone, let deadline = probe.deadline, MonotonicInstant.now < end else { return probe.behavior }
      if case .datagram(let datagram, let source, let origin, let time) = await reader.next(by: min(deadline, end)) {
        probe.received(datagram, from: source, at: origin, now: time)
      }
    }
  }
}
