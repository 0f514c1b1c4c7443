internal import ICE
internal import NIOCore
internal import NIOPosix

/// Finds the addresses of `stun:` servers.
enum StunServers {
  /// Resolves each server's name, away from the event loop; one that has no address is an error, because it was asked for.
  static func resolve(_ servers: [String], on loop: any EventLoop) async throws -> [TransportAddress] {
    var addresses: [TransportAddress] = []
    for text in servers {
      let url: ICEServerURL
      do {
        url = try ICEServerURL(parsing: text)
      } catch {
        throw BotPeer.StartError.badIceServer(text, reason: "\(error)")
      }
      let resolved: SocketAddress
      do {
        resolved = try await NIOThreadPool.singleton.runIfActive {
          try SocketAddress.makeAddressResolvingHost(url.host, port: Int(url.port))
        }
      } catch {
        throw BotPeer.StartError.badIceServer(text, reason: "\(url.host) has no address.")
      }
      if let address = TransportAddress(resolved) { addresses.append(address) }
    }
    return addresses
  }
}
