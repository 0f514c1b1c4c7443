package import BotPeer

extension RoomServer {
  /// What a server serves at a moment.
  package struct Figures: Sendable {
    package var rooms = 0
    /// Participants of all rooms.
    package var users = 0
    /// TCP connections.
    package var connections = 0
    /// Nil without WHIP and WHEP.
    package var gateway: GatewayFigures?
  }

  /// The sessions of WHIP and WHEP.
  package struct GatewayFigures: Sendable {
    package var publishers = 0
    package var players = 0
    package var peers: [PeerStatistics] = []
  }
}
